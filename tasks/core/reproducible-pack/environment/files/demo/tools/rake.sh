#!/bin/sh
echo rake
