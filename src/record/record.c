/* record */ typedef int record_unit;
