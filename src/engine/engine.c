/* engine */ typedef int engine_unit;
