// The types of other modules that appear in this library's public declarations are re-exported, so
// that users need to import only `ImagebusWorker`.

@_exported public import struct ImageModel.AnimationProperties
@_exported public import struct ImageModel.CustomStep
@_exported public import enum ImageModel.ErrorCode
@_exported public import struct ImageModel.ErrorDetails
@_exported public import struct ImageModel.ErrorRule
@_exported public import struct ImageModel.ExternalFailure
@_exported public import struct ImageModel.HTTPHeader
@_exported public import struct ImageModel.ImageError
@_exported public import enum ImageModel.ImageFormat
@_exported public import struct ImageModel.PixelSize
