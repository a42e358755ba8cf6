/* A client of flowsteer serve --control unix:PATH, with libc only (docs/serve.md).
 *
 *     gcc -Wall -Wextra -std=c11 -o serve_client serve_client.c
 *     ./serve_client control.sock                    a tour: rules, counters, wires
 *     ./serve_client control.sock mlx5dv_dr_rule_destroy '{"rule": "no telnet"}'
 *     ./serve_client control.sock subscribe '{"events": ["drop"]}'
 *
 * Prints the result as JSON. After subscribe it prints each event until the device ends. Exit codes:
 * 0; 1 the call was refused; 2 there is no answer. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct client {
	int fd;
	FILE *answers;
	long last; /* id of the last call */
	char *line;
	size_t size;
};

/* Text within a line of JSON; text is NULL for none. */
struct part {
	const char *text;
	size_t length;
};

static _Noreturn void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "serve_client: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(2);
}

static const char *skip_space(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

/* The end of the JSON value at this place, NULL where it has none. Checks strings and brackets only:
 * flowsteer writes whole values, and checks those that it reads. */
static const char *skip_value(const char *at)
{
	char open[256]; /* brackets that are open */
	size_t depth = 0;

	do {
		at = skip_space(at);
		if (*at == '"') {
			for (at++; *at != '"'; at++)
				if (*at == '\0' || (*at == '\\' && *++at == '\0'))
					return NULL;
			at++;
		} else if (*at == '{' || *at == '[') {
			if (depth == sizeof open)
				return NULL;
			open[depth++] = *at++;
		} else if (*at == '}' || *at == ']') {
			if (depth == 0 || open[--depth] != (*at == '}' ? '{' : '['))
				return NULL;
			at++;
		} else if (depth > 0 && (*at == ',' || *at == ':')) {
			at++;
		} else {
			size_t length = strcspn(at, " \t\r\n\"{}[],:");

			if (length == 0)
				return NULL;
			at += length;
		}
	} while (depth > 0);
	return at;
}

/* The value of a member of an object. */
static struct part member(const char *object, const char *name)
{
	const char *at = skip_space(object);

	if (*at != '{')
		return (struct part){ NULL, 0 };
	do {
		const char *key = skip_space(at + 1), *key_end = skip_value(key), *value, *end;

		if (key_end == NULL || *skip_space(key_end) != ':')
			break;
		value = skip_space(skip_space(key_end) + 1);
		end = skip_value(value);
		if (end == NULL)
			break;
		if ((size_t)(key_end - key) == strlen(name) + 2 && strncmp(key + 1, name, strlen(name)) == 0)
			return (struct part){ value, (size_t)(end - value) };
		at = skip_space(end);
	} while (*at == ',');
	return (struct part){ NULL, 0 };
}

static void print_part(FILE *to, struct part part)
{
	fwrite(part.text, 1, part.length, to);
}

static struct client open_client(const char *path)
{
	struct client client = { .fd = socket(AF_UNIX, SOCK_STREAM, 0) };
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof address.sun_path)
		fail("%s: the path of a Unix socket has at most %zu bytes", path, sizeof address.sun_path - 1);
	strcpy(address.sun_path, path);
	if (client.fd < 0)
		fail("socket: %s", strerror(errno));
	if (connect(client.fd, (struct sockaddr *)&address, sizeof address) != 0)
		fail("%s: %s: start flowsteer serve SCENARIO --control unix:%s", path, strerror(errno), path);
	client.answers = fdopen(client.fd, "r");
	if (client.answers == NULL)
		fail("%s: %s", path, strerror(errno));
	return client;
}

static void close_client(struct client *client)
{
	fclose(client->answers);
	free(client->line);
}

static void send_text(struct client *client, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t sent = send(client->fd, text, length, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			fail("the message was not sent: %s", strerror(errno));
		text += sent;
		length -= (size_t)sent;
	}
}

/* Reads the next message. Returns false where flowsteer has ended. */
static bool next_message(struct client *client)
{
	return getline(&client->line, &client->size, client->answers) > 0;
}

/* Prints the message if it is an event. */
static bool print_event(const struct client *client)
{
	struct part params = member(client->line, "params");

	if (member(client->line, "method").text == NULL || params.text == NULL)
		return false;
	print_part(stdout, params);
	printf("\n");
	fflush(stdout);
	return true;
}

/* Calls a method, and prints events that come before its answer. Params are an object in one line.
 * The result is valid until the next message; it is none where the call was refused. */
static struct part call(struct client *client, const char *method, const char *params)
{
	static const char form[] = "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"%s\",\"params\":%s}\n";
	long id = ++client->last;
	size_t length = (size_t)snprintf(NULL, 0, form, id, method, params);
	char *message = malloc(length + 1);

	if (message == NULL)
		fail("no memory for a message of %zu bytes", length);
	snprintf(message, length + 1, form, id, method, params);
	send_text(client, message, length);
	free(message);
	for (;;) {
		struct part answered, result, error;

		if (!next_message(client))
			fail("flowsteer serve has ended, or closed the connection");
		if (print_event(client))
			continue;
		result = member(client->line, "result");
		error = member(client->line, "error");
		answered = member(client->line, "id");
		if (error.text != NULL) {
			struct part why = member(error.text, "message"), data = member(error.text, "data");

			fprintf(stderr, "serve_client: %s: ", method);
			print_part(stderr, why.text == NULL ? error : why);
			fprintf(stderr, " ");
			if (data.text != NULL)
				print_part(stderr, data);
			fprintf(stderr, "\n");
			return (struct part){ NULL, 0 };
		}
		if (result.text == NULL || answered.text == NULL || strtol(answered.text, NULL, 10) != id)
			fail("this is no answer: %s", client->line);
		return result;
	}
}

/* Calls a method and prints its result. */
static bool print_call(struct client *client, const char *method, const char *params)
{
	struct part result = call(client, method, params);

	if (result.text == NULL)
		return false;
	print_part(stdout, result);
	printf("\n");
	fflush(stdout);
	return true;
}

static void check_arguments(const char *method, char *params)
{
	const char *end;

	if (strpbrk(method, "\"\\\n") != NULL)
		fail("%s: this is no name of a method; the method \"methods\" lists them", method);
	/* A message is one line; JSON has no line breaks within strings. */
	for (char *at = params; *at != '\0'; at++)
		if (*at == '\n' || *at == '\r')
			*at = ' ';
	end = *skip_space(params) == '{' ? skip_value(params) : NULL;
	if (end == NULL || *skip_space(end) != '\0')
		fail("%s: params are one JSON object, such as {\"rule\": \"no telnet\"}", params);
}

int main(int count, char **args)
{
	static const char *const tour[] = { "rules", "counters", "wires" };
	char none[] = "{}";
	char *params = count > 3 ? args[3] : none;
	struct client client;
	bool done = true;

	if (count < 2 || count > 4)
		fail("usage: serve_client SOCKET [METHOD [PARAMS]]");
	if (count > 2)
		check_arguments(args[2], params);
	client = open_client(args[1]);
	if (count > 2) {
		done = print_call(&client, args[2], params);
		if (done && strcmp(args[2], "subscribe") == 0)
			while (next_message(&client))
				print_event(&client);
	} else {
		for (size_t i = 0; done && i < sizeof tour / sizeof *tour; i++) {
			printf("%s: ", tour[i]);
			done = print_call(&client, tour[i], none);
		}
	}
	close_client(&client);
	return done ? 0 : 1;
}
