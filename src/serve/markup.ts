import { html, raw } from 'hono/html';

/** A piece of HTML in which every text from outside is escaped. */
export type Markup = ReturnType<typeof html>;

export { html, raw };
