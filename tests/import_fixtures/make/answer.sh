# A provider of promptfoo: repeats the prompt, and fails where the prompt says so.
case "$1" in
  fail) echo "the model is away" >&2; exit 1 ;;
  *) printf '%s' "$1" ;;
esac
