"""From files and options to a plan: everything is checked before anything is paid."""
