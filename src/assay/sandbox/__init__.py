"""User code in a separate process that can only compute.

`Sandbox` runs a `Program` over rows. Each program has workers of its own: processes with neither the parent's
environment nor its files, without network unless the program asks for it, with limits on time, memory and output.
"""
