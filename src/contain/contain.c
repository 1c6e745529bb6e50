/* contain */ typedef int contain_unit;
