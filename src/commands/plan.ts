import type { Command } from './command.ts';
export const planCommand: Command = { name: 'plan', summary: 'x', options: [], examples: [], run: async () => 0 };
