export function renewBlock(page: string, name: string, text: string): void;
export function hasBlock(page: string, name: string, text: string): boolean;
