// The fixtures in which the program under test is a client.
export const CLIENTS = {};
