"""Executes a plan: pipeline, reply cache, budget, writer, resume, progress, estimate."""
