/* source */ typedef int source_unit;
