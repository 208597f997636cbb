"""Pages: templates, stylesheet, and what they show."""
