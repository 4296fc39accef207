// Reads a JSON list of Kubernetes objects from standard input, and prints what is wrong with each by the published schemas,
// as a JSON list of lists. Unknown fields count: those that no schema looks at.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

async function modelOf({ apiVersion, kind }) {
  const operator = apiVersion.startsWith("monitoring.coreos.com/");
  const folder = operator ? "@kubernetes-models/prometheus-operator" : "kubernetes-models";
  const models = await import(pathToFileURL(`${process.env.NODE_PATH}/${folder}/${apiVersion}/index.js`));
  if (!models[kind]) throw new Error(`no schema of ${apiVersion} ${kind}`);
  return models[kind];
}

// The value, noting the path of each field that is asked for.
function watched(value, path, seen) {
  if (value === null || typeof value !== "object") return value;
  return new Proxy(value, {
    get(target, name) {
      if (typeof name === "symbol" || !Object.hasOwn(target, name)) return Reflect.get(target, name);
      seen.add(`${path}/${name}`);
      return watched(target[name], `${path}/${name}`, seen);
    },
  });
}

function paths(value, path = "") {
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, item]) => [`${path}/${name}`, ...paths(item, `${path}/${name}`)]);
}

async function faults(object) {
  const seen = new Set();
  try {
    const Model = await modelOf(object);
    const { apiVersion, kind, ...rest } = object;
    const model = new Model(rest);
    for (const name of Object.keys(rest)) model[name] = watched(rest[name], `/${name}`, seen);
    model.validate();
    const unread = paths(rest).filter((path) => path.split("/").length > 2 && !seen.has(path));
    return unread.map((path) => `unknown field ${path}`);
  } catch (error) {
    return [error.message];
  }
}

const objects = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(await Promise.all(objects.map(faults))));
