// The types of other modules that appear in this library's public declarations are re-exported, so
// that users need to import only `ImagebusWorker`.

@_exported public import struct Model.AnimationProperties
@_exported public import struct Model.CustomStep
@_exported public import enum Model.ErrorCode
@_exported public import struct Model.ErrorDetails
@_exported public import struct Model.ErrorRule
@_exported public import struct Model.ExternalFailure
@_exported public import struct Model.HTTPHeader
@_exported public import struct Model.ImageError
@_exported public import enum Model.ImageFormat
@_exported public import struct Model.PixelSize
