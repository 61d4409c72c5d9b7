int view_8;
