/* reach */ typedef int reach_unit;
