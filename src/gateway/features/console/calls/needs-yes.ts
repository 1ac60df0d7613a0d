// What the console asks before it runs a tool again that may change something; its pages know the question by these words.
export const NEEDS_YES = 'It is not known that this tool only reads. Run it again all the same?';
