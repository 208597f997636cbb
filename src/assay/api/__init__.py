"""The functions that programs, the command line and the viewer call."""
