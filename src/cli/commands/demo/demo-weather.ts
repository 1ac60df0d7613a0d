// Made-up weather, derived from the name of the city.
export const CITIES: readonly string[] = [
  'Athens',
  'Bergen',
  'Lisbon',
  'Madrid',
  'Osaka',
  'Oslo',
  'Paris',
  'Rome',
  'Tokyo',
];

const SKIES = ['clear', 'cloudy', 'foggy', 'rainy', 'snowy', 'stormy', 'sunny', 'windy'];

export function weatherIn(city: string): { city: string; celsius: number; sky: string } {
  let sum = 0;
  for (const letter of city.toLowerCase()) sum = (sum * 31 + letter.codePointAt(0)!) % 10_007;
  return { city, celsius: (sum % 36) - 5, sky: SKIES[sum % SKIES.length]! };
}

export function citiesLike(typed: string): string[] {
  return CITIES.filter((city) => city.toLowerCase().startsWith(typed.toLowerCase()));
}
