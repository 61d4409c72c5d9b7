int token_7;
