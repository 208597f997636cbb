"""What programs, the command line and the viewer call."""
