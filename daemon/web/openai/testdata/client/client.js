// Uses OpenAI's client on a server and prints what it gets as one JSON object. The
// arguments are the URLs of the server, of one that permits two requests a minute, and of one that requires a token.
import OpenAI from 'openai';
import { Stream } from 'openai/core/streaming';

const [base, limited, guarded] = process.argv.slice(1);
const clientOf = (url, apiKey) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
const client = clientOf(base, 'good');
const say = (client, more) => client.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'one two three', ...more });

// failure returns the error that a request raises.
async function failure(request) {
  try {
    await request();
  } catch (e) {
    return `${e.constructor.name} ${e.status} ${e.type} ${e.param} ${e.code}: ${e.message}`;
  }
  return 'no error';
}

const result = { models: [], audio: {}, deltas: [] };
for await (const model of client.models.list()) result.models.push(model.id);
result.model = await client.models.retrieve('tts-1');
result.voices = await client.get('/audio/voices');
for (const response_format of ['wav', 'pcm', 'flac', 'mp3', 'opus', 'aac']) {
  const response = await say(client, { response_format, voice: { id: 'nova' }, speed: 1.2, instructions: 'Be kind.' });
  result.audio[response_format] = {
    type: response.headers.get('content-type'),
    data: Buffer.from(await response.arrayBuffer()).toString('base64'),
  };
}
const events = await say(client, { stream_format: 'sse', response_format: 'pcm' });
for await (const event of Stream.fromSSEResponse(events, new AbortController())) {
  if (event.type === 'speech.audio.delta') result.deltas.push(event.audio);
  else result.last = event;
}
result.failures = [
  await failure(() => clientOf(guarded, 'bad').models.list()),
  await failure(() => client.models.retrieve('gpt-2')),
  await failure(() => client.get('/nothing')),
  await failure(() => client.post('/audio/speech', { body: ['x'] })),
  await failure(() => say(client, { voice: 'nobody', speed: 9 })),
  await failure(() => say(client, { voice: 'nobody' })),
  await failure(async () => {
    for (let i = 0; i < 3; i++) await say(clientOf(limited, 'good'));
  }),
];
console.log(JSON.stringify(result));
