"""Asking models: one client protocol, wire dialects, and policies wrapped around them."""
