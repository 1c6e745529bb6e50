/*
 * For check-asan alone, included into each of its files: no leak check where
 * nothing asks for one.  The options come from /proc/self/environ; where that
 * is another host's /proc (tests/trees) they cannot be read, nor can the leak
 * check find its threads.
 */
const char *__asan_default_options(void);

__attribute__((weak)) const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

/*
 * A view that is left while its other thread reads /proc leaves that thread to
 * the end of the process (engine/scanner.h), with what libproc2 holds for it.
 */
const char *__lsan_default_suppressions(void);

__attribute__((weak)) const char *__lsan_default_suppressions(void)
{
	return "leak:libproc2.so";
}
