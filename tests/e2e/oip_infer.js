'use strict';
// oip_infer.js MODEL FORM DATATYPE NAME:SHAPE:FILE…: embeddings by ModelInfer through @grpc/grpc-js, which knows nothing
// but the protocol's proto. FORM is raw or typed, both ways; files hold the elements of one input each, little-endian, of
// DATATYPE INT32 or INT64. What comes back is written to the file "out", as little-endian FP32.

const fs = require('node:fs');
const path = require('node:path');
const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');

const [model, form, datatype, ...inputs] = process.argv.slice(2);
const definition = protoLoader.loadSync('inference/grpc_service.proto', {
  includeDirs: [path.resolve(__dirname, '../../proto')], keepCase: true, longs: String,
});
const { inference } = grpc.loadPackageDefinition(definition);
const client = new inference.GRPCInferenceService(process.env.EMBD_ADDRESS, grpc.credentials.createInsecure(), {
  'grpc.max_receive_message_length': -1,
});

/** The elements of a file as an array for a typed field; int64 as texts, for which a number may be too small. */
function elements(data) {
  const buffer = data.buffer.slice(data.byteOffset, data.byteOffset + data.length);
  if (datatype === 'INT32') {
    return { int_contents: Array.from(new Int32Array(buffer)) };
  }
  return { int64_contents: Array.from(new BigInt64Array(buffer), String) };
}

const request = { model_name: model, inputs: [], raw_input_contents: [], parameters: {} };
for (const input of inputs) {
  const [name, shape, file] = input.split(':');
  const data = fs.readFileSync(file);
  const tensor = { name, datatype, shape: shape.split(',') };
  if (form === 'raw') {
    request.raw_input_contents.push(data);
  } else {
    tensor.contents = elements(data);
  }
  request.inputs.push(tensor);
}
if (form === 'typed') {
  request.parameters.typed_output = { bool_param: true };
}

client.ModelInfer(request, { deadline: Date.now() + 60000 }, (error, reply) => {
  client.close();
  if (error) {
    throw error;
  }
  const [output] = reply.outputs;
  if (output.name !== 'embeddings' || output.datatype !== 'FP32') {
    throw new Error(`got ${output.datatype} ${output.name}`);
  }
  const typed = () => Buffer.from(Float32Array.from(output.contents.fp32_contents).buffer);
  fs.writeFileSync('out', form === 'raw' ? reply.raw_output_contents[0] : typed());
});
