typedef int tui_unit;
