export const renewMatrix = () => {};
export const compareMatrix = () => true;
