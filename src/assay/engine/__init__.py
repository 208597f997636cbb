"""The only room that sees all others: prepares runs, carries them out, resumes them, computes their numbers."""
