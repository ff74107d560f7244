namespace paceline {}
