/* Lists of texts with their exact bytes: json_read.h. */
#include "base/json_read.h"

#include <errno.h>
#include <string.h>

static int take_one(const json_t *text, const json_t *b64, const char *key, json_text_fn *take,
		    void *ctx, struct err *err)
{
	struct bytes exact = {0};
	const char *data = json_string_value(text);
	size_t len = data ? json_string_length(text) : 0;
	int r = 0;

	if (!data)
		return err_set(err, EINVAL, "%s: not a list of strings", key);
	if (b64 && !json_is_null(b64)) {
		if (!json_is_string(b64) || json_unbase64(json_string_value(b64), &exact, NULL) < 0)
			return err_set(err, EINVAL, "%s_b64: not base64", key);
		data = exact.data;
		len = exact.len;
	}
	if (memchr(data, '\0', len))
		r = err_set(err, EINVAL, "%s: holds a NUL", key);
	else if (take(ctx, data, len) < 0)
		r = err_nomem(err);
	bytes_free(&exact);
	return r;
}

int json_get_texts(const json_t *o, const char *key, const char *b64_key, json_text_fn *take,
		   void *ctx, bool *known, struct err *err)
{
	const json_t *texts = json_object_get(o, key);
	const json_t *exact = json_object_get(o, b64_key);
	int r = 0;

	*known = texts && !json_is_null(texts);
	if (!*known)
		return 0;
	if (!json_is_array(texts))
		return err_set(err, EINVAL, "%s: not a list", key);
	if (exact && !json_is_null(exact) &&
	    (!json_is_array(exact) || json_array_size(exact) != json_array_size(texts)))
		return err_set(err, EINVAL, "%s: not a list as long as %s", b64_key, key);
	for (size_t i = 0; i < json_array_size(texts) && !r; i++)
		r = take_one(json_array_get(texts, i), json_array_get(exact, i), key, take, ctx,
			     err);
	return r;
}

struct args {
	struct bytes bytes;
	size_t room;
};

static int take_arg(void *ctx, const char *data, size_t len)
{
	struct args *a = ctx;

	if (!a->bytes.data || a->bytes.len + len + 2 > a->room) {
		size_t room = (a->bytes.len + len + 2) * 2;
		char *grown = realloc(a->bytes.data, room);

		if (!grown)
			return -ENOMEM;
		a->bytes.data = grown;
		a->room = room;
	}
	memcpy(a->bytes.data + a->bytes.len, data, len);
	a->bytes.len += len + 1;
	a->bytes.data[a->bytes.len - 1] = '\0';
	a->bytes.data[a->bytes.len] = '\0';
	return 0;
}

int json_get_args(const json_t *o, struct bytes *out, bool *known, struct err *err)
{
	struct args a = {0};
	int r = json_get_texts(o, "args", "args_b64", take_arg, &a, known, err);

	if (!r && *known && !a.bytes.data && !bytes_set(&a.bytes, "", 0))
		r = err_nomem(err);
	if (r || !*known) {
		bytes_free(&a.bytes);
		return r;
	}
	bytes_free(out);
	*out = a.bytes;
	return 0;
}
