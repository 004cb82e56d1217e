import { allOperations, type Operation, type Parameter, schemaOf } from '../platform/interface/index.ts';
import { formatTable, type TableLayout, wrapped, wrapWords } from '../terminal/index.ts';

/** `resourceUuid` as a flag: `resource-uuid`. The account is named as everywhere else. */
export function flagOf(name: string): string {
  if (name === 'accountId') return 'account';
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Every parameter of any operation once, by name, except the account. Path parameters come first, then filters. */
export function allParameters(): readonly Parameter[] {
  const found = new Map<string, Parameter>();
  for (const place of ['host', 'path', 'query', 'header'] as const) {
    for (const { parameters } of allOperations) {
      for (const parameter of parameters) {
        if (parameter.in === place && parameter.name !== 'accountId' && !found.has(parameter.name))
          found.set(parameter.name, parameter);
      }
    }
  }
  return [...found.values()];
}

/** The operations as a table, or as one JSON value. */
export function listedOperations(json: boolean, layout: TableLayout): string {
  const rows = allOperations.map(({ name, method, path, section, changes }) => ({
    ...{ operation: name, method, path, section, changes },
  }));
  if (json) return `${JSON.stringify(rows)}\n`;
  const columns = ['operation', 'method', 'section', 'changes', 'path'].map((name) => ({ name, type: 'VARCHAR' }));
  const important = ['operation', 'method', 'path', 'changes', 'section'];
  return `${formatTable(
    columns,
    rows.map((row) => [row.operation, row.method, row.section, row.changes ? 'yes' : '', row.path]),
    { ...layout, important },
  )}\n`;
}

/** Where an operation's paths begin. */
const hostNames = { management: 'url', inference: 'inferenceUrl', sandbox: 'sandboxUrl' } as const;

/** Everything about one operation, for people or as one JSON value. */
export function describedOperation(operation: Operation, json: boolean, layout: TableLayout): string {
  const { name, method, host, path, section, summary, parameters, body, response, changes, effect, errors } = operation;
  if (json) {
    return `${JSON.stringify({
      ...{ operation: name, method, host, path, section, summary, changes },
      ...{ parameters, body: body && { ...body, type: schemaOf(body.type) }, errors, effect },
      ...{ paging: operation.paging, pagedSince: operation.pagedSince, response: schemaOf(response) },
    })}\n`;
  }
  return [
    `${name}: ${summary}`,
    `${method} {${hostNames[host]}}${path} (${/^\d/.test(section) ? `section ${section} of the interface` : section})`,
    '',
    ...parameters.flatMap((parameter) => describedParameter(parameter, layout)),
    ...(parameters.length === 0 ? [] : ['']),
    ...(body === undefined ? [] : [`Body${body.required ? '' : ' (optional)'}: ${body.rule}`]),
    ...(operation.answer === 'any' ? ['The interface does not show the answer.'] : []),
    ...(operation.paging === undefined ? [] : ['The answer has pages; --all follows them.']),
    ...(changes && effect !== undefined ? [`It ${effect}. It needs --yes.`] : []),
    `Errors: ${errors.map(({ status, when }) => (status === undefined ? when : `${status} ${when}`)).join('; ')}.`,
  ]
    .map((line) => (line.startsWith(indent) ? line : wrapped(line, layout)))
    .join('\n')
    .concat('\n');
}

const indent = '  ';

/** A flag, and its rule below it. */
function describedParameter(parameter: Parameter, { width = Number.POSITIVE_INFINITY }: TableLayout): string[] {
  const rule = wrapWords(`${parameter.rule}${choicesOf(parameter)}`, width - 3 * indent.length);
  return [
    `${indent}--${flagOf(parameter.name)}${parameter.required ? ' (required)' : ''}`,
    ...rule.map((line) => `${indent}${indent}${indent}${line}`),
  ];
}

function choicesOf({ type }: Parameter): string {
  return 'choices' in type ? ` One of ${type.choices.join(', ')}.` : '';
}
