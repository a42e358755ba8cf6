/*
 * What the recorders share: lines that grow, and the file that they are written to.
 *
 * A process has a file of its own, since addresses mean something else in another: while a process writes the file that
 * FLOWSTEER_RECORD names, the others write FILE.PROCESS. Each begins with a line that has the number of the process. A
 * recorder defines RECORD_FILE, the file without FLOWSTEER_RECORD, and RECORD_FIRST, the format of the first line.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* A line that grows. */
struct line {
	char *text;
	size_t length, room;
	int failed;
};

static void add(struct line *line, const char *format, ...)
{
	va_list args;
	int more;

	for (;;) {
		size_t left = line->room - line->length;

		va_start(args, format);
		more = vsnprintf(line->text ? line->text + line->length : NULL, left, format, args);
		va_end(args);
		if (more < 0 || line->failed)
			return;
		if ((size_t)more < left)
			break;
		char *grown = realloc(line->text, 2 * line->room + more + 256);

		if (!grown) {
			line->failed = 1;
			return;
		}
		line->text = grown;
		line->room = 2 * line->room + more + 256;
	}
	line->length += more;
}

static int output = -1;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

/* The child of a fork: the file is its parent's, who may hold the mutex. */
static void forked(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

	opening = unlocked;
	if (output >= 0)
		close(output);
	output = -1;
}

static int open_file(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* Opens the file of this process. The lock of a file lasts as long as its process. */
static void open_output(void)
{
	static int before;
	const char *path = getenv("FLOWSTEER_RECORD");
	char own[4096], first[64];
	int length;

	if (!path)
		path = RECORD_FILE;
	if (!before)
		pthread_atfork(NULL, NULL, forked);
	before = 1;
	output = open_file(path);
	if (output >= 0 && flock(output, LOCK_EX | LOCK_NB)) {
		close(output);
		snprintf(own, sizeof own, "%s.%d", path, (int)getpid());
		output = open_file(own);
	}
	length = snprintf(first, sizeof first, RECORD_FIRST, (int)getpid());
	if (output < 0 || write(output, first, length) < 0)
		fprintf(stderr, "flowsteer-record: %s cannot be written: %s\n", path, strerror(errno));
}

/* Writes a line at once, so that threads do not mix, and frees it. */
static void put(struct line *line)
{
	int kept = errno;

	pthread_mutex_lock(&opening);
	if (output < 0)
		open_output();
	pthread_mutex_unlock(&opening);
	if (!line->failed && output >= 0 && write(output, line->text, line->length) < 0)
		fprintf(stderr, "flowsteer-record: cannot write: %s\n", strerror(errno));
	free(line->text);
	errno = kept;
}
