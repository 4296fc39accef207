'use strict';
// node_rows.js MODEL IDS_FILE OUT_FILE: token rows through @grpc/grpc-js. The ids are little-endian int32; what comes back
// is written as it came.

const fs = require('node:fs');
const path = require('node:path');
const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');

const [model, idsFile, outFile] = process.argv.slice(2);
const definition = protoLoader.loadSync('embd/v1/embedding.proto', {
  includeDirs: [path.resolve(__dirname, '../../proto')], keepCase: true, longs: Number, enums: String,
});
const { embd } = grpc.loadPackageDefinition(definition);
const client = new embd.v1.EmbeddingService(process.env.EMBD_ADDRESS, grpc.credentials.createInsecure());

const data = fs.readFileSync(idsFile);
const request = {
  model,
  part: 'PART_TOKEN',
  ids_tensor: { data_type: 'DATA_TYPE_INT32', shape: [1, data.length / 4], data },
};
client.Embed(request, { deadline: Date.now() + 60000 }, (error, reply) => {
  client.close();
  if (error) {
    throw error;
  }
  fs.writeFileSync(outFile, reply.embeddings.data);
});
