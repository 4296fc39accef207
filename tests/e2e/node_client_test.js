'use strict';
// The server as a Node program sees it, by @grpc/grpc-js: with the .proto files, and by reflection alone.

const assert = require('node:assert');
const path = require('node:path');
const { after, before, test } = require('node:test');
const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');
const { GrpcReflection } = require('grpc-js-reflection-client');

const ADDRESS = process.env.EMBD_ADDRESS;
const DIM = 64;
const PROTO_FOLDER = path.resolve(__dirname, '../../proto');

let client;

before(() => {
  const definition = protoLoader.loadSync('embd/v1/embedding.proto', {
    includeDirs: [PROTO_FOLDER], keepCase: true, longs: Number, enums: String,
  });
  const { embd } = grpc.loadPackageDefinition(definition);
  client = new embd.v1.EmbeddingService(ADDRESS, grpc.credentials.createInsecure());
});

after(() => client.close());

function embed(request, stub = client) {
  return new Promise((resolve, reject) => {
    stub.Embed(request, { deadline: Date.now() + 60000 }, (error, reply) => (error ? reject(error) : resolve(reply)));
  });
}

/** The little-endian float32 elements of a reply; a copy, for a Buffer need not be aligned to four bytes. */
function floats(reply) {
  const { data } = reply.embeddings;
  return new Float32Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.length));
}

/** token + position as float32 numbers, from the two parts. */
async function composed(model, ids, batchSize, sequenceLength) {
  const shape = { model, batch_size: batchSize, sequence_length: sequenceLength };
  const sum = floats(await embed({ ...shape, ids, part: 'PART_TOKEN' }));
  const position = floats(await embed({ ...shape, part: 'PART_POSITION' }));
  return sum.map((value, i) => value + position[i]);
}

test('a unary call returns the (B, T, D) sum of its parts', async () => {
  const ids = [1, 319, 3, 4, 0, 6];

  const reply = await embed({ model: 'demo-learned', ids, batch_size: 2, sequence_length: 3 });

  assert.deepStrictEqual(reply.embeddings.shape, [2, 3, DIM]);
  assert.strictEqual(reply.embeddings.data_type, 'DATA_TYPE_FLOAT32');
  assert.deepStrictEqual(floats(reply), await composed('demo-learned', ids, 2, 3));
});

test('ids as an Int32Array in a tensor give the same bits', async () => {
  const ids = Int32Array.of(1, 319, 3, 4, 0, 6);
  const tensor = { data_type: 'DATA_TYPE_INT32', shape: [2, 3], data: Buffer.from(ids.buffer) };

  const reply = await embed({ model: 'demo-learned', ids_tensor: tensor });

  assert.deepStrictEqual(floats(reply), await composed('demo-learned', [...ids], 2, 3));
});

test('a refusal has its code, its text and its details', async () => {
  const request = { model: 'demo-learned', ids: [1, 2, 3, 4, 5, 320], batch_size: 2, sequence_length: 3 };

  await assert.rejects(embed(request), (error) => {
    assert.strictEqual(error.code, grpc.status.INVALID_ARGUMENT);
    assert.match(error.details, /ids\[1\]\[2\] = 320 is outside \[0, 320\) of model "demo-learned"/);
    assert.match(error.metadata.get('grpc-status-details-bin')[0].toString('latin1'), /ID_OUT_OF_RANGE/);
    return true;
  });
});

test('a stream answers in order and goes on after a bad request', async () => {
  const bad = 5;
  const answers = [];
  const stream = client.EmbedStream({ deadline: Date.now() + 60000 });
  const ended = new Promise((resolve, reject) => {
    stream.on('data', (answer) => answers.push(answer));
    stream.on('end', resolve);
    stream.on('error', reject);
  });

  for (let i = 0; i < 20; i++) {
    const request = { model: 'demo-sinusoidal', ids: [i === bad ? 320 : i], batch_size: 1, sequence_length: 1 };
    stream.write({ request_id: `r${i}`, request });
  }
  stream.end();
  await ended;

  assert.deepStrictEqual(answers.map((answer) => answer.request_id), Array.from({ length: 20 }, (_, i) => `r${i}`));
  assert.deepStrictEqual(answers.map((answer) => answer.index || 0), Array.from({ length: 20 }, (_, i) => i));
  for (const [i, answer] of answers.entries()) {
    if (i === bad) {
      assert.strictEqual(answer.error.reason, 'ID_OUT_OF_RANGE');
    } else {
      assert.deepStrictEqual(floats(answer.response), await composed('demo-sinusoidal', [i], 1, 1));
    }
  }
});

test('a cancelled stream leaves the server serving', async () => {
  const stream = client.EmbedStream({ deadline: Date.now() + 60000 });
  const failed = new Promise((resolve) => stream.on('error', resolve));
  stream.write({ request: { model: 'demo-rotary', ids: [1], batch_size: 1, sequence_length: 1 } });
  await new Promise((resolve) => stream.once('data', resolve));

  stream.cancel();

  assert.strictEqual((await failed).code, grpc.status.CANCELLED);
  await embed({ model: 'demo-rotary', ids: [1], batch_size: 1, sequence_length: 1 });
});

test('reflection alone is enough to find the service and call it', async () => {
  const credentials = grpc.credentials.createInsecure();
  const reflection = new GrpcReflection(ADDRESS, credentials);

  const services = await reflection.listServices();
  assert.ok(services.includes('embd.v1.EmbeddingService'), services.join(' '));
  assert.ok(services.includes('embd.v1.DiagnosticsService'), services.join(' '));

  const descriptor = await reflection.getDescriptorBySymbol('embd.v1.EmbeddingService');
  const { embd } = descriptor.getPackageObject({ keepCase: true, longs: Number, enums: String });
  const reflected = new embd.v1.EmbeddingService(ADDRESS, credentials);
  const reply = await embed({ model: 'demo-learned', ids: [7, 8], batch_size: 1, sequence_length: 2 }, reflected);
  reflected.close();

  assert.deepStrictEqual(floats(reply), await composed('demo-learned', [7, 8], 1, 2));
});
