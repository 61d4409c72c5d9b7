int write_9;
