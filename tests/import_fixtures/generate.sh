#!/bin/sh
# Write all fixtures anew: each tool in an environment of its own, without any network model. See README.md.
#
#   tests/import_fixtures/generate.sh [ENVIRONMENTS]
#
# ENVIRONMENTS is a folder for virtual environments (default /tmp/assay-fixtures/envs); missing ones are installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-$here/../../.venv/bin/python}
envs=${1:-/tmp/assay-fixtures/envs}
work=/tmp/assay-fixtures/work
rm -rf "$work"
mkdir -p "$envs" "$work"

environment() { # NAME REQUIREMENT...
  name=$1
  shift
  if [ ! -d "$envs/$name" ]; then
    python3 -m venv "$envs/$name"
    "$envs/$name/bin/pip" install -q "$@"
  fi
}
environment inspect 'inspect-ai==0.3.285'
environment lm_eval 'lm-eval[api]==0.4.13' torch sacrebleu scikit-learn
environment autorubric 'autorubric==1.6.1'
environment deepeval 'deepeval==4.3.1'
if [ ! -d "$envs/promptfoo" ]; then
  mkdir "$envs/promptfoo"
  npm install --silent --prefix "$envs/promptfoo" promptfoo@0.121.20
fi

"$python" "$here/../loopback/server.py" --port 0 --vary --text 'the sky is blue on a clear day' >"$work/server" &
server=$!
trap 'kill $server' EXIT
while [ ! -s "$work/server" ]; do sleep 0.1; done
SERVER=$(grep -o 'http://[^ ]*[0-9]' "$work/server" | head -n 1)/v1
export SERVER PYTHONDONTWRITEBYTECODE=1 HF_HUB_OFFLINE=1 OPENAI_API_KEY=none

# tools write the paths of what they run into their files: run everything in $work
cp -r "$here"/make/* "$work"
for tool in inspect lm_eval autorubric deepeval promptfoo; do mkdir "$work/$tool"; done

cd "$work/inspect"
"$envs/inspect/bin/python" ../inspect_logs.py

cd "$work/lm_eval_tasks"
"$envs/lm_eval/bin/lm_eval" --model dummy --tasks colors --include_path . --log_samples --output_path ../lm_eval/choices
"$envs/lm_eval/bin/lm_eval" --model local-chat-completions --model_args "model=stub,base_url=$SERVER/chat/completions" \
  --apply_chat_template --tasks words --include_path . --log_samples --output_path ../lm_eval/words

cd "$work/autorubric"
"$envs/autorubric/bin/python" ../autorubric_experiment.py

cd "$work/deepeval"
"$envs/deepeval/bin/python" ../deepeval_run.py
mv test_run_*.json test_run.json

cd "$work/promptfoo"
export PROMPTFOO_CONFIG_DIR="$work/promptfoo-config" PROMPTFOO_DISABLE_TELEMETRY=1 PROMPTFOO_DISABLE_UPDATE=1
promptfoo=$envs/promptfoo/node_modules/.bin/promptfoo
cp ../answer.sh ../*.yaml .
# promptfoo exits with 100 where a test fails
"$promptfoo" eval --no-cache -c promptfooconfig.yaml -o results.json || [ $? -eq 100 ]
"$promptfoo" eval --no-cache --repeat 2 -c promptfoo_errors.yaml -o errors.json || [ $? -eq 100 ]

cd "$here"
rm -rf inspect lm_eval autorubric deepeval promptfoo
mkdir -p inspect lm_eval autorubric/experiment deepeval promptfoo
cp "$work"/inspect/*.eval "$work"/inspect/*.json inspect
cp "$work"/lm_eval/*/*/*.json* lm_eval
cp "$work"/autorubric/dataset.json autorubric
cp "$work"/autorubric/experiment/*.json* autorubric/experiment
cp "$work"/deepeval/test_run.json deepeval
cp "$work"/promptfoo/*.json promptfoo
