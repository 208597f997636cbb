"""Texts, a rubric and judges become a task: grading, audits."""
