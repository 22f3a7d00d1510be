// Who imports `ImagebusFoundation` needs no second import for the library that it adds to.

@_exported public import Imagebus
