# One batch of events a process: the line comes on standard input, `ack` or `nack` goes out.
read -r line
batch=$(printf '%s' "$line" | sed -n 's/^{"t":"events","batch":\([0-9]*\).*/\1/p')
ack() { printf '{"t":"ack","batch":%s}\n' "$batch"; }

# Of all events, only the last of a run is worth a message.
end=$(printf '%s' "$line" | sed -n 's/.*"type":"run\.end"\(.*\)/\1/p')
if [ -z "$end" ]; then ack; exit 0; fi
field() { printf '%s' "$end" | sed -n "s/.*\"$1\":\"\{0,1\}\([A-Za-z0-9]*\).*/\1/p"; }
name=$(printf '%s' "$line" | sed -n 's/.*"config":{[^}]*"name":"\([^"\\]*\)".*/\1/p')
file=$(printf '%s' "$line" | sed -n 's/.*"config":{[^}]*"file":"\([^"\\]*\)".*/\1/p')
text="${name:-imgflow}: $(field result), $(field ok) of $(field total) items ok, $(field failed) failed"
message=$(printf '{"text":"%s"}' "$text")

if [ -n "$file" ]; then
  printf '%s\n' "$message" >>"$file" || { printf '{"t":"nack","batch":%s,"class":"permanent","code":"notify.file","message":"cannot write the file"}\n' "$batch"; exit 0; }
elif [ -n "$CHAT_WEBHOOK" ]; then
  # The address is a secret: it goes in by a file, since the words of a program can be seen by others.
  if ! printf 'url = "%s"\n' "$CHAT_WEBHOOK" | curl -fsS -m 20 -H 'Content-Type: application/json' -d "$message" -K - >/dev/null; then
    printf '{"t":"nack","batch":%s,"class":"transient","code":"notify.failed","retry_after_ms":2000,"message":"the chat did not take it"}\n' "$batch"
    exit 0
  fi
else
  printf '{"t":"nack","batch":%s,"class":"permanent","code":"notify.unset","message":"the variable CHAT_WEBHOOK is not set"}\n' "$batch"
  exit 0
fi
ack
