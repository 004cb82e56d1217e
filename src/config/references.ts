/** The variables of a process, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable's value; undefined if it is unset or empty. */
export function variableValue(env: Environment, name: string): string | undefined {
  // Own properties only: `${constructor}` must not find an inherited property.
  return (Object.hasOwn(env, name) && env[name]) || undefined;
}

/** Replaces each `${NAME}` with the variable; `$${` stands for `${` itself. Also returns the ones that failed. */
export function expand(text: string, env: Environment): { text: string; unset: string[]; malformed: string[] } {
  const unset: string[] = [];
  const malformed: string[] = [];
  const expanded = text.replace(/\$\$\{|\$\{([^}]*)(\}?)/g, (whole, name: string | undefined, closing: string) => {
    if (name === undefined) return '${';
    if (closing === '' || !/^[A-Za-z_]\w*$/.test(name)) {
      const advice = `expected \${NAME}; write $\${ for the text itself`;
      malformed.push(`found \${ without a variable name and } after it, ${advice}`);
      return '';
    }
    const value = variableValue(env, name);
    if (value !== undefined) return value;
    const state = Object.hasOwn(env, name) ? 'empty' : 'not set';
    unset.push(`found ${whole}, which is ${state}, expected an environment variable; set ${name}`);
    return '';
  });
  return { text: expanded, unset, malformed };
}
