/* cmd */ typedef int cmd_unit;
