#include "paceline/scheme.hpp"
