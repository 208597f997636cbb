"""Questions to stored runs: compare, gate, calibrate, power, agreement. No model is asked."""
