// The types of other rooms that stand in this library's public declarations, so that who uses it
// imports `ImagebusWorker` alone.

@_exported public import struct ImageModel.AnimationFacts
@_exported public import struct ImageModel.CustomStep
@_exported public import enum ImageModel.ErrorCode
@_exported public import struct ImageModel.ErrorRule
@_exported public import struct ImageModel.ForeignFailure
@_exported public import struct ImageModel.HTTPHeader
@_exported public import struct ImageModel.ImageError
@_exported public import enum ImageModel.ImageFormat
@_exported public import struct ImageModel.PixelSize
