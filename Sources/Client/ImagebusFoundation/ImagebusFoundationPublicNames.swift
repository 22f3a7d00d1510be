// Importing `ImagebusFoundation` also imports `Imagebus`.

@_exported public import Imagebus
