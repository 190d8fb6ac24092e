"""What runs programs: the only code that blocks, sleeps, starts threads or tasks, and reads clocks."""
