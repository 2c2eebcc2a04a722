// The official TypeScript SDK as an MCP host over HTTP: lists the tools, then adds, searches, reads and deletes.
// Usage: node http_client.mjs MODULES URL TOKEN; prints what came of it as JSON.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [, , modules, url, token] = process.argv;
const require = createRequire(pathToFileURL(`${modules}/`));
const load = (path) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/client/${path}`)));
const { Client } = await load("index.js");
const { StreamableHTTPClientTransport } = await load("streamableHttp.js");

const headers = token ? { Authorization: `Bearer ${token}` } : {};
const client = new Client({ name: "Script", version: "1.0.0" });
const call = async (name, args) => (await client.callTool({ name, arguments: args })).structuredContent;
try {
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  const { tools } = await client.listTools();
  const { results } = await call("add_memory", { text: "I keep bees in Ghent", infer: false });
  const found = await call("search_memory", { query: "Where do I keep bees?" });
  const read = await client.readResource({ uri: `memory://memories/${results[0].id}` });
  const deleted = await call("delete_memory", { memory_id: results[0].id });
  const prompts = (await client.listPrompts()).prompts;
  console.log(
    JSON.stringify({
      tools: tools.map((tool) => tool.name),
      prompts: prompts.map((prompt) => prompt.name),
      found: found.memories,
      read: read.contents[0].text,
      deleted: deleted.deleted === results[0].id,
    }),
  );
} catch (error) {
  console.log(JSON.stringify({ failed: error.message }));
}
await client.close();
