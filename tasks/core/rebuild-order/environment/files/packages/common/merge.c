int merge_5;
