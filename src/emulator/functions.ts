import { type Call, pathValue } from './call.ts';
import { type McpServer, type McpServers, type Tool, ToolError } from './mcp.ts';
import { hashText, uuidOf } from './random.ts';
import type { Reply } from './reply.ts';
import { chargeCompute, workloadOf } from './workloads.ts';
import type { Present } from './world.ts';

/** Any method <workspace>/functions/<server>/mcp (4.7). */
export function answerFunction(servers: McpServers, call: Call): Reply {
  const present = workloadOf(call, 'function', pathValue(call, 'server'));
  return servers.answer(serverOf(call, present), call);
}

function serverOf(call: Call, present: Present): McpServer {
  const { workspace, name } = present.resource;
  return { id: `function ${workspace}/${name}`, name, version: '1.4.0', tools: toolsOf(call, present) };
}

const text = (description: string) => ({ type: 'string', description }) as const;
const integer = (description: string) => ({ type: 'integer', description }) as const;

/** Three tools on invented records. Each call is usage of this hour. */
function toolsOf(call: Call, present: Present): Tool[] {
  const { key, name } = present.resource;
  const records = Array.from({ length: 12 }, (_, at) => ({
    id: `rec-${at + 1}`,
    title: `${name} record ${at + 1}`,
    score: hashText(key, `record ${at}`) % 100,
  }));
  const charge = (input: string) => chargeCompute(call, present, 'function', input);
  return [
    {
      name: 'search_records',
      description: 'Finds records whose title contains a text.',
      inputSchema: {
        type: 'object',
        properties: { query: text('What the title contains.'), limit: integer('At most so many; 5 by default.') },
        required: ['query'],
      },
      run({ query, limit = 5 }) {
        charge(`search ${String(query)}`);
        const wanted = String(query).toLowerCase();
        const found = records.filter(({ title }) => title.toLowerCase().includes(wanted));
        return JSON.stringify(found.slice(0, Math.max(0, Number(limit))));
      },
    },
    {
      name: 'get_record',
      description: 'Returns one record by its ID.',
      inputSchema: { type: 'object', properties: { id: text('Such as rec-1.') }, required: ['id'] },
      run({ id }) {
        charge(`get ${String(id)}`);
        const record = records.find((each) => each.id === id);
        if (record === undefined) throw new ToolError(`There is no record ${String(id)}`);
        return JSON.stringify(record);
      },
    },
    {
      name: 'add_note',
      description: 'Adds a note to a record and returns the ID of the note.',
      inputSchema: {
        type: 'object',
        properties: { id: text('The record.'), note: text('The note.') },
        required: ['id', 'note'],
      },
      run({ id, note }) {
        charge(`note ${String(id)} ${String(note)}`);
        return JSON.stringify({ noteId: uuidOf(key, `${String(id)}\n${String(note)}`) });
      },
    },
  ];
}
