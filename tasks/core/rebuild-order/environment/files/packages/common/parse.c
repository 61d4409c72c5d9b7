int parse_6;
