#include "tui/sequences.h"

#include "tui/decode.h"
#include "tui/input.h"

static const struct sequence usual[] = {
	{"\033[200~", DECODE_PASTE_BEGIN},
	{"\033[201~", DECODE_PASTE_END},
	{"\033[A", INPUT_UP},
	{"\033[B", INPUT_DOWN},
	{"\033[C", INPUT_RIGHT},
	{"\033[D", INPUT_LEFT},
	{"\033OA", INPUT_UP},
	{"\033OB", INPUT_DOWN},
	{"\033OC", INPUT_RIGHT},
	{"\033OD", INPUT_LEFT},
	{"\033[H", INPUT_HOME},
	{"\033[F", INPUT_END_KEY},
	{"\033OH", INPUT_HOME},
	{"\033OF", INPUT_END_KEY},
	{"\033[1~", INPUT_HOME},
	{"\033[4~", INPUT_END_KEY},
	{"\033[7~", INPUT_HOME},
	{"\033[8~", INPUT_END_KEY},
	{"\033[2~", INPUT_INS},
	{"\033[3~", INPUT_DEL},
	{"\033[5~", INPUT_PGUP},
	{"\033[6~", INPUT_PGDN},
	{"\033[Z", INPUT_BACKTAB},
	{"\033OP", INPUT_F(1)},
	{"\033OQ", INPUT_F(2)},
	{"\033OR", INPUT_F(3)},
	{"\033OS", INPUT_F(4)},
	{"\033[11~", INPUT_F(1)},
	{"\033[12~", INPUT_F(2)},
	{"\033[13~", INPUT_F(3)},
	{"\033[14~", INPUT_F(4)},
	{"\033[[A", INPUT_F(1)},
	{"\033[[B", INPUT_F(2)},
	{"\033[[C", INPUT_F(3)},
	{"\033[[D", INPUT_F(4)},
	{"\033[[E", INPUT_F(5)},
	{"\033[15~", INPUT_F(5)},
	{"\033[17~", INPUT_F(6)},
	{"\033[18~", INPUT_F(7)},
	{"\033[19~", INPUT_F(8)},
	{"\033[20~", INPUT_F(9)},
	{"\033[21~", INPUT_F(10)},
	{"\033[23~", INPUT_F(11)},
	{"\033[24~", INPUT_F(12)},
};

static const struct sequence capabilities[] = {
	{"kcuu1", INPUT_UP},      {"kcud1", INPUT_DOWN},   {"kcub1", INPUT_LEFT},
	{"kcuf1", INPUT_RIGHT},   {"kpp", INPUT_PGUP},     {"knp", INPUT_PGDN},
	{"khome", INPUT_HOME},    {"kend", INPUT_END_KEY}, {"kfnd", INPUT_HOME},
	{"kslt", INPUT_END_KEY},  {"kent", INPUT_ENTER},   {"kcbt", INPUT_BACKTAB},
	{"kbs", INPUT_BACKSPACE}, {"kdch1", INPUT_DEL},    {"kich1", INPUT_INS},
	{"kf1", INPUT_F(1)},      {"kf2", INPUT_F(2)},     {"kf3", INPUT_F(3)},
	{"kf4", INPUT_F(4)},      {"kf5", INPUT_F(5)},     {"kf6", INPUT_F(6)},
	{"kf7", INPUT_F(7)},      {"kf8", INPUT_F(8)},     {"kf9", INPUT_F(9)},
	{"kf10", INPUT_F(10)},    {"kf11", INPUT_F(11)},   {"kf12", INPUT_F(12)},
};

const struct sequence *sequence_usual(size_t i)
{
	return i < sizeof(usual) / sizeof(usual[0]) ? &usual[i] : NULL;
}

const struct sequence *sequence_capability(size_t i)
{
	return i < sizeof(capabilities) / sizeof(capabilities[0]) ? &capabilities[i] : NULL;
}
