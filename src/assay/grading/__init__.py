"""Grade texts by a rubric and audit judges: texts, rubric and judges become a task in memory."""
