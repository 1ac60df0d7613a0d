// An SDK v2 server of both eras on stdio with skills (SEP-2640), made with the SDK's own extension: NAME. Every one has the skill `pdf` with the
// same URIs, and one of its own. Its tool `of_NAME` has a page (MCP Apps). `EXTENSIONS` are further extensions that it declares; it answers `events/list`.
import { McpServer } from '@modelcontextprotocol/server';
import { SkillsExtension, memorySkillFiles } from '@modelcontextprotocol/server/ext/skills';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const { NAME = 'alpha', EXTENSIONS = '', SKILLS = 'yes' } = process.env;
const manifest = (name) => `---\nname: ${name}\ndescription: ${name} of ${NAME}\n---\n# ${name} of ${NAME}\n`;
const skills = await SkillsExtension.load(
  memorySkillFiles({
    'pdf/SKILL.md': manifest('pdf'),
    'pdf/references/FORMS.md': `The forms of ${NAME}\n`,
    [`only-${NAME}/SKILL.md`]: manifest(`only-${NAME}`),
  }),
);

serveStdio(() => {
  const server = new McpServer({ name: NAME, version: '1.0.0' });
  const page = { _meta: { ui: { resourceUri: `ui://${NAME}/page` } } };
  server.registerTool(`of_${NAME}`, { description: 'x', inputSchema: z.looseObject({}), ...page }, () => ({
    content: [{ type: 'text', text: NAME }],
  }));
  server.registerTool('of_all', { description: 'x', inputSchema: z.looseObject({}) }, () => ({
    content: [{ type: 'text', text: NAME }],
  }));
  if (SKILLS === 'yes') skills.attach(server);
  const extensions = Object.fromEntries(
    EXTENSIONS.split(',')
      .filter(Boolean)
      .map((name) => [name, {}]),
  );
  if (EXTENSIONS) server.server.registerCapabilities({ extensions });
  server.server.setRequestHandler('events/list', { params: z.looseObject({}), result: z.looseObject({}) }, () => ({
    events: [NAME],
  }));
  return server;
});
